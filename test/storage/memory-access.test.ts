import { createMemoryKeyStore } from "../../src/storage/memory/key-store.ts";
import { createMemoryUsageStore } from "../../src/storage/memory/usage-store.ts";
import { testKeyStore, testUsageStore } from "../contract/access-stores.ts";

testKeyStore("memory", createMemoryKeyStore);
testUsageStore("memory", createMemoryUsageStore);
