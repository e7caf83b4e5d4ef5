import { testUnreadCalls } from "./unread-calls.ts";

/** For each mode, the attack that needed most memory of those that its limits allow. All attacks are tested every night. */
const costliest = {
  public: "18,000 calls of 60 addresses with 110 headers",
  open: "25,600 checks of one address with 110 headers",
};
testUnreadCalls((access, attack) => costliest[access] === attack);
