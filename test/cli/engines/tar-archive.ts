import { gzipSync } from "node:zlib";

interface TarEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly mode?: number;
  /** The type of the format: `0` is a regular file, `2` a symbolic link, `5` a folder. */
  readonly type?: string;
  readonly link?: string;
}

/** Writes an archive in the format ustar, with the numbers and the sum as GNU tar writes them. */
export function tarOf(...entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(1024)]);
}

export const tarGzOf = (...entries: readonly TarEntry[]) => gzipSync(tarOf(...entries), { level: 1 });

function blocksOf({ name, content = "", mode = 0o755, type = "0", link = "" }: TarEntry): readonly Buffer[] {
  const data = Buffer.from(content);
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(data.length, 11), 124);
  header.write(" ".repeat(8), 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\u0000 `, 148, "latin1");
  return [header, data, Buffer.alloc(-data.length & 511)];
}

function octal(number: number, digits: number): string {
  return number.toString(8).padStart(digits, "0");
}
