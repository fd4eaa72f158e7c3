// toolgate-shim pi 0
const PROGRAM = "";
