import { testUnreadCalls } from "./unread-calls.ts";

testUnreadCalls(() => true);
