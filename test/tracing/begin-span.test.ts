import { expect, test, vi } from "vitest";
import { createBeginSpan } from "../../src/tracing/requests.ts";
import type { Spans } from "../../src/tracing/spans.ts";

test("no span is begun for a request that is answered before a span could end", () => {
  const beginFirst = vi.fn(() => undefined);
  const paths = { isCall: () => true, isLeftOut: () => false };
  const begin = createBeginSpan({ beginFirst } as unknown as Spans, paths);
  const about = { protocol: "json", path: "/v1/eval" } as const;
  const origin = "https://a.example";
  begin({ method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } }, about);
  expect(beginFirst).not.toHaveBeenCalled();
  begin({ method: "OPTIONS", headers: { origin } }, about);
  begin({ method: "POST", headers: { origin } }, about);
  expect(beginFirst).toHaveBeenCalledTimes(2);
});
