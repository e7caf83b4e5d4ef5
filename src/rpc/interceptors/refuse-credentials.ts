import type { Interceptor } from "@connectrpc/connect";
import { KibitzError } from "../../errors.ts";
import { callerKey } from "../caller-key.ts";

/**
 * No key is valid on a server that issues none. A credential that is present is never ignored:
 * its sender believes to be somebody, and must learn that he is not.
 */
export function refuseCredentials(): Interceptor {
  return (next) => (request) => {
    if (request.contextValues.get(callerKey).authorization !== undefined) {
      throw new KibitzError(
        "invalid_api_key",
        "This server issues no API keys: leave the Authorization header out, every call works without.",
      );
    }
    return next(request);
  };
}
