import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { createPlaces } from "../../src/http/listener/connections.ts";

afterEach(() => void vi.restoreAllMocks());

const connection = () => Object.assign(new EventEmitter(), { destroy() {} }) as unknown as Socket;

test("the only connection of an address can be replaced, whatever the clock shows", () => {
  for (let thousandths = 0; thousandths < 20_000_000; thousandths += 12_347) {
    vi.spyOn(performance, "now").mockReturnValue(thousandths / 1000);
    const places = createPlaces({ max: 10, maxPerAddress: 1 });
    expect(places.take(connection(), "192.0.2.1")).not.toBe("caller");
    expect(places.take(connection(), "192.0.2.1"), `after ${thousandths / 1000} ms`).not.toBe("caller");
  }
});
