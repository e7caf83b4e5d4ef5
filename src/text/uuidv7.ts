import * as crypto from "node:crypto";
import { v7 } from "uuid";

/** Node has `randomUUIDv7` since version 26.1. */
export const uuidv7: () => string = "randomUUIDv7" in crypto ? () => crypto.randomUUIDv7() : () => v7();
