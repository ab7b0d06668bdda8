// Starts `ptxloom lsp` and hands it what the editor asks; everything else is in the server.
"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  const { target, ptxVersion, select, ignore, inlayHints } = workspace.getConfiguration("ptxloom");
  return { target, ptxVersion, select, ignore, inlayHints };
}

async function start() {
  const [command, ...args] = workspace.getConfiguration("ptxloom").get("command");
  const server = { command, args };
  const options = {
    documentSelector: [{ language: "ptx" }],
    initializationOptions: settings(),
  };
  client = new LanguageClient("ptxloom", "ptxloom", server, options);
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `ptxloom: \`${command}\` did not start (${error.message}). Install it with: pip install "ptxloom[lsp]"`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined && running.isRunning()) {
    await running.stop();
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("ptxloom.restart", async () => {
      await stop();
      await start();
    }),
    workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("ptxloom.command")) {
        await stop();
        await start();
      } else if (event.affectsConfiguration("ptxloom") && client?.isRunning()) {
        await client.sendNotification("workspace/didChangeConfiguration", { settings: { ptxloom: settings() } });
      }
    }),
  );
  await start();
};

exports.deactivate = stop;
