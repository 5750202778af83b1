// Page: the view fills the window of the browser.

const scheme = location.protocol === "https:" ? "wss" : "ws";
const socket = new Socket(`${scheme}://${location.host}${location.pathname}socket${location.search}`);
const view = new View(document.getElementById("view"), socket);
socket.view = view;
socket.open();
view.stage.focus();
window.raytracerView = view; // for measurements
