/*
 * A helper as older builtins of Rust have it: the name, exclusives, no flag and no LSE instruction.
 */
	.text
	.globl __aarch64_cas4_acq
	.hidden __aarch64_cas4_acq
	.type __aarch64_cas4_acq, %function
__aarch64_cas4_acq:
	.cfi_startproc
	mov	w16, w0
1:	ldaxr	w0, [x2]
	cmp	w0, w16
	b.ne	2f
	stxr	w17, w1, [x2]
	cbnz	w17, 1b
2:	ret
	.cfi_endproc
	.size __aarch64_cas4_acq, . - __aarch64_cas4_acq

	.globl _start
	.type _start, %function
_start:
	.cfi_startproc
	bl	__aarch64_cas4_acq
	bl	__aarch64_cas4_acq
	b	_start
	.cfi_endproc
	.size _start, . - _start
	.section .note.GNU-stack, "", %progbits
