// Page: the view fills the window of the browser.

const scheme = location.protocol === "https:" ? "wss" : "ws";
const folder = location.pathname.replace(/\/?$/, "/"); // a proxy may drop the slash
const socket = new Socket(`${scheme}://${location.host}${folder}socket${location.search}`);
const root = document.getElementById("view");
root.textContent = "";
const view = new View(root, socket);
socket.view = view;
socket.open();
view.focus();
window.raytracerView = view; // for measurements
