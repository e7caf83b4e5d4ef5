import { createClientState } from "./client.ts";

export const client = createClientState();
