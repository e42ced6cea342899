// Vercel AI SDK: a tool that runs only after a person has approved exactly its arguments. A rejection reaches the model as
// the tool's error, with the person's reason.

import { generateText, stepCountIs, tool } from "ai";
import { Countersign } from "countersign-sdk";
import { z } from "zod";

export async function answer(model, prompt, client = Countersign.fromEnvironment()) {
  const send = client.requireApproval("mail.send", async ({ to, text }) => `sent “${text}” to ${to}`, {
    action: "Send “{text}” to {to}",
    consequence: "The letter is gone",
  });
  const send_mail = tool({
    description: "Sends a letter",
    inputSchema: z.object({ to: z.string(), text: z.string() }),
    execute: send,
  });
  return generateText({ model, prompt, tools: { send_mail }, stopWhen: stepCountIs(5) });
}
