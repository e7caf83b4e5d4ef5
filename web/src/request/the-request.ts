import { client } from "../client/the-client.ts";
import { createRequestState } from "./request.ts";

export const request = createRequestState(client);
