export interface Segment {
  readonly address: number;
  readonly bytes: Uint8Array;
  /** 0 for a segment with an address. */
  readonly kind?: number;
}

/** Returns a WebAssembly module that contains only a memory and these data segments. */
export function moduleWithData(segments: readonly Segment[]): Buffer {
  const data = segments.map(({ address, bytes, kind = 0 }) =>
    Buffer.concat([Buffer.from([kind, 0x41, ...leb(address), 0x0b, ...leb(bytes.length)]), bytes]),
  );
  const header = Buffer.from([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  return Buffer.concat([
    header,
    section(5, Buffer.from([1, 0, 16])),
    section(11, Buffer.concat([Buffer.from(leb(segments.length)), ...data])),
  ]);
}

const section = (id: number, content: Buffer) =>
  Buffer.concat([Buffer.from([id, ...leb(content.length)]), content]);

function leb(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...leb(Math.floor(value / 128))];
}
