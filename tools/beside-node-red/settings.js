// Node-RED for the comparison: no editor, and only on the loopback.
module.exports = {
  uiHost: "127.0.0.1",
  uiPort: Number(process.env.PORT),
  httpAdminRoot: false,
  httpNodeRoot: "/",
  flowFile: "flows.json",
  credentialSecret: false,
  logging: { console: { level: "error", metrics: false, audit: false } },
};
