import type { NodeRequest, NodeResponse } from "../node-message.ts";

/**
 * Says 100 Continue when somebody begins to read the body, and not before: who is refused by the headers alone is to
 * be told so at once, without being asked for the body (RFC 9110 section 10.1.1). By itself Node asks for it always.
 */
export function continueWhenRead(req: NodeRequest, res: NodeResponse): void {
  const listen = (event: string | symbol) => {
    if (event !== "data" && event !== "readable") {
      return;
    }
    req.off("newListener", listen);
    // What is read behind an answer is thrown away.
    if (!res.headersSent) {
      res.writeContinue();
    }
  };
  req.on("newListener", listen);
}
