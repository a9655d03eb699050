// Derives keys, compresses and reads files in the pool's threads, and counts in workers that share
// memory. Prints digests and sums that are known beforehand; ends with status 4.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const { promisify } = require('util');
const { Worker, isMainThread, workerData } = require('worker_threads');
const gzip = promisify(require('zlib').gzip);
const pbkdf2 = promisify(crypto.pbkdf2);

const TASKS = 100;
const WORKERS = 4;
const COUNTS = 20000;

function digest(parts) {
	const hash = crypto.createHash('sha256');
	parts.forEach((part) => hash.update(part));
	return hash.digest('hex');
}

function inTurn(task) {
	return Promise.all(Array.from({ length: TASKS }, (_, index) => task(index)));
}

// Adds under a lock made of one word, on which workers wait.
function add(words) {
	for (let i = 0; i < COUNTS; i++) {
		while (Atomics.compareExchange(words, 0, 0, 1) !== 0)
			Atomics.wait(words, 0, 1, 100);
		words[1]++;
		Atomics.store(words, 0, 0);
		Atomics.notify(words, 0, 1);
	}
}

async function countInWorkers() {
	const words = new Int32Array(new SharedArrayBuffer(8));
	const ends = [];
	for (let i = 0; i < WORKERS; i++) {
		const worker = new Worker(__filename, { workerData: words });
		ends.push(new Promise((resolve) => worker.on('exit', resolve)));
	}
	const statuses = await Promise.all(ends);
	return `${statuses.join(' ')}, ${words[1]}`;
}

async function main() {
	const keys = inTurn((i) => pbkdf2(`word ${i}`, 'salt', 200, 32, 'sha256'));
	const texts = inTurn(() => fs.promises.readFile(__filename));
	const packed = inTurn((i) => gzip(Buffer.alloc(10000, i), { level: 1 }));
	console.log('keys', digest(await keys));
	console.log('texts', digest(await texts));
	console.log('packed', digest(await packed));
	console.log('workers', await countInWorkers());
	process.exitCode = 4;
}

if (isMainThread)
	main();
else
	add(workerData);
