import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { compressionBrotli } from "./repairs.ts";

/** What requests may be packed in, and answers are, where their readers say so. */
export const compressions: readonly Compression[] = [compressionGzip, compressionBrotli];

/** Messages that are shorter are not packed, whatever their readers say. */
export const packedFromBytes = 1024;
