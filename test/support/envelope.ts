/**
 * Encodes a message for a stream of gRPC or Connect. The flags come first, then the length, and then the bytes.
 * @param length differs from the length of the bytes in invalid envelopes
 */
export function envelope(message: Uint8Array | string, flags = 0, length?: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(message);
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length ?? bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Decodes the envelopes of a stream. Throws if the last envelope is incomplete. */
export function envelopesIn(body: Buffer): readonly { readonly flags: number; readonly bytes: Buffer }[] {
  const envelopes = [];
  for (let at = 0; at < body.length; ) {
    const [flags, end] = [body.readUInt8(at), at + 5 + body.readUInt32BE(at + 1)];
    if (end > body.length) {
      throw new Error("half of an envelope");
    }
    envelopes.push({ flags, bytes: body.subarray(at + 5, end) });
    at = end;
  }
  return envelopes;
}
