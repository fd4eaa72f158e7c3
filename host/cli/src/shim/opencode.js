// toolgate-shim opencode 0
const PROGRAM = "";
