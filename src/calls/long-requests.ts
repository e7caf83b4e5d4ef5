import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { costOfBytes, KibitzError, withCost } from "../errors/errors.ts";
import { endOfString } from "../text/json-scan.ts";
import { requestMaxBytes } from "./policy.ts";

/**
 * A request that is longer than others is so for one long text, which is read in no time: what stands beside it must not
 * be longer than another request. Half a megabyte of empty moves is 170,000 objects, and held the thread for 100 ms.
 */

/** A text that is shorter is no reason for a long request. */
const longTextBytes = 1024;

/** @throws KibitzError `body_too_large` */
export function refuseLongJson(body: Uint8Array): void {
  // Quotes are bytes of their own in UTF-8.
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
  let restBytes = 0;
  let at = 0;
  while (at < text.length && restBytes <= requestMaxBytes) {
    const start = text.indexOf('"', at);
    const end = start === -1 ? text.length : endOfString(text, start) + 1;
    const isLong = start !== -1 && end - start > longTextBytes;
    restBytes += (isLong ? start : end) - at;
    at = end;
  }
  refuseLongRest(restBytes, body.length);
}

/** Of a message in binary; nothing where it is none, which is for whoever decodes it to say. @throws KibitzError `body_too_large` */
export function refuseLongBinary(message: Uint8Array): void {
  const reader = new BinaryReader(message);
  let restBytes = 0;
  try {
    while (reader.pos < reader.len && restBytes <= requestMaxBytes) {
      const start = reader.pos;
      const [number, type] = reader.tag();
      reader.skip(type, number);
      const bytes = reader.pos - start;
      restBytes += type === WireType.LengthDelimited && bytes > longTextBytes ? 0 : bytes;
    }
  } catch {
    return;
  }
  refuseLongRest(restBytes, message.length);
}

function refuseLongRest(restBytes: number, bytes: number): void {
  if (restBytes > requestMaxBytes) {
    const detail = `What stands beside the long texts of this request is larger than ${requestMaxBytes} bytes, the maximum for it.`;
    throw withCost(new KibitzError("body_too_large", detail), costOfBytes(bytes));
  }
}
