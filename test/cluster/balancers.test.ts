import { describeWith } from "../support/needs.ts";
import { testBalancer } from "./balancer-contract.ts";
import { balancers } from "./balancers.ts";

describeWith("haproxy")("the recommended balancer", () => {
  testBalancer(balancers.haproxy);
});
