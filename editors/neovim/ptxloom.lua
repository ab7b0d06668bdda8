-- PTX in Neovim: put this file into your configuration's plugin/ folder.
-- It needs `pip install 'ptxloom[lsp]'`.

local command = { "ptxloom", "lsp" }
-- What `ptxloom check` takes as options: { target = "sm_90a", ignore = { "unused-ignore" } };
-- { inlayHints = true } says behind each register what it holds, once `:lua vim.lsp.inlay_hint.enable()` shows such hints.
local options = vim.empty_dict()

if vim.lsp.config then -- 0.11 and later
  vim.filetype.add({ extension = { ptx = "ptx" } })
  vim.lsp.config("ptxloom", {
    cmd = command,
    filetypes = { "ptx" },
    root_markers = { ".git" },
    init_options = options,
  })
  vim.lsp.enable("ptxloom")
else -- from 0.7 on
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, { pattern = "*.ptx", command = "setfiletype ptx" })
  local client
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "ptx",
    callback = function(event)
      vim.bo[event.buf].commentstring = "// %s"
      if client == nil or vim.lsp.client_is_stopped(client) then
        client = vim.lsp.start_client({ name = "ptxloom", cmd = command, init_options = options })
      end
      vim.lsp.buf_attach_client(event.buf, client)
    end,
  })
end
