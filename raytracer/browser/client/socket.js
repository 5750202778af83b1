// Socket: the transport of the page. It connects again after an interruption.
//
// A message with bytes is binary: length of the header (uint32, little endian), the header as JSON,
// the bytes. All others are JSON.

const FIRST_DELAY = 250; // ms until the first new attempt
const LAST_DELAY = 5000; // ms between later ones
const ENDED = 4001; // code of the server when it ends
const MAX_WAITING = 65536; // bytes that wait to be sent, from which movements are left out

class Socket {
  constructor(address) {
    this.address = address;
    this.delay = FIRST_DELAY;
    this.view = null;
    this.why = "there is no connection to the server: does it run, and is the tunnel open? connecting …";
  }

  open() {
    this.socket = new WebSocket(this.address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.delay = FIRST_DELAY;
      this.opened = true;
      this.view.connected(true);
    };
    this.socket.onmessage = ({ data }) => this.take(data);
    this.socket.onclose = ({ code, reason }) => this.lost(code, reason);
  }

  async lost(code, reason) {
    if (code === ENDED) {
      this.view.connected(false, reason);
      return;
    }
    if (this.opened) this.why = "the connection is lost; connecting again …";
    else this.why = (await this.refusal()) || this.why;
    this.opened = false;
    this.view.connected(false, this.why);
    setTimeout(() => this.open(), this.delay);
    this.delay = Math.min(2 * this.delay, LAST_DELAY);
  }

  // Why a server does not let this page in, or "": sockets do not tell.
  async refusal() {
    try {
      const { origin } = location;
      const answer = await fetch(`${this.address.replace(/^ws/, "http")}&${new URLSearchParams({ origin })}`);
      const isOurs = (answer.headers.get("Content-Type") || "").startsWith("text/plain");
      return isOurs ? (await answer.text()).trim() : `a proxy answers with status ${answer.status}`;
    } catch {
      return "";
    }
  }

  take(data) {
    if (typeof data === "string") {
      this.view.receive(JSON.parse(data), null);
      return;
    }
    const length = new DataView(data).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    this.view.receive(header, new Uint8Array(data, 4 + length));
  }

  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    if (message.type === "act" && this.socket.bufferedAmount > MAX_WAITING) return;
    this.socket.send(JSON.stringify(message));
  }
}
