import { createContextKey } from "@connectrpc/connect";

/** Where interceptors find the headers of the answer that Connect is going to send, also if it becomes an error. */
export const responseHeaderKey = createContextKey<Headers | undefined>(undefined, {
  description: "headers of the answer",
});
