/*
 * Words that look like LSE instructions (AArch64) but are data: a literal pool, a jump table and a table
 * between functions. One LSE instruction is one: in counted.
 */
	.arch armv8.1-a
	.text

	.globl counted
	.type counted, %function
counted:
	.cfi_startproc
	ldaddal	w0, w1, [x2]
	ldr	w0, 1f
	ldr	x1, 2f
	ldr	q0, 3f
	ret
	.balign 16
3:	.word	0xb8e00041, 0xf8a10042, 0x88e07c41, 0x08dffc41
2:	.word	0xb8e00041, 0xb8208041
1:	.word	0xf8e00020
	.cfi_endproc
	.size counted, . - counted

	.globl choose_way
	.type choose_way, %function
choose_way:
	.cfi_startproc
	adr	x1, 4f
	ldr	w0, [x1, w0, uxtw #2]
	add	x1, x1, w0, sxtw
	br	x1
	.cfi_endproc
4:	.word	0xb8e00041, 0xb8e08041, 0x885ffc41
	.size choose_way, . - choose_way

	.type table, %object
table:
	.word	0xb8e00041, 0xb8e08041, 0xc8dffc41, 0x8800fc41
	.size table, . - table

	.globl _start
	.type _start, %function
_start:
	.cfi_startproc
	bl	counted
	bl	choose_way
	b	_start
	.cfi_endproc
	.size _start, . - _start
	.section .note.GNU-stack, "", %progbits
