import * as crypto from "node:crypto";
import { v7 } from "uuid";

/**
 * A UUID version 7: ids that sort by time. Node makes them from 26.1 on, ten times as fast as the
 * library, whose price would be a third of a JSON call.
 */
export const uuidv7: () => string = "randomUUIDv7" in crypto ? () => crypto.randomUUIDv7() : () => v7();
