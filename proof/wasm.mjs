// Prints the hashes that the WebAssembly module computes, one a line, under Node.
import { readFileSync } from 'node:fs';

const bytes = readFileSync(process.argv[2]);
const { instance } = await WebAssembly.instantiate(bytes, {});
for (let n = 0; n < instance.exports.count(); n++) {
  console.log(BigInt.asUintN(64, instance.exports.nth(n)).toString(16).padStart(16, '0'));
}
