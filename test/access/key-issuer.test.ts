import { expect, test, vi } from "vitest";
import { createKeyIssuer } from "../../src/access/key-issuer.ts";
import { openOwnStores } from "../support/own-stores.ts";

async function issueOne() {
  const { keys } = openOwnStores();
  const onEnded = vi.fn();
  const issuer = createKeyIssuer({ keys, pepper: undefined, onEnded });
  const issued = await issuer.issue({ name: "a", plan: "gold", issuedTo: "192.0.2.1" });
  return issued.kind === "issued" ? { keys, issuer, onEnded, ...issued } : expect.fail("not issued");
}

test("key rotation revokes a key and creates a new key with the same name, plan and owner", async () => {
  const { keys, issuer, onEnded, key, record } = await issueOne();
  const rotated = await issuer.rotate(record.id);
  expect(rotated).toMatchObject({ record: { name: "a", plan: "gold", issuedTo: "192.0.2.1" } });
  expect(rotated).not.toMatchObject({ key });
  expect(await keys.findById(record.id)).toMatchObject({ revokedAt: expect.any(Number) });
  expect(onEnded).toHaveBeenCalledExactlyOnceWith(record.id);
});

test("key rotation fails for an already rotated key and for an unknown key", async () => {
  const { issuer, record } = await issueOne();
  await issuer.rotate(record.id);
  expect(await issuer.rotate(record.id)).toBeUndefined();
  expect(await issuer.rotate("nobody")).toBeUndefined();
});
