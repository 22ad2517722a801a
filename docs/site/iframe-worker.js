// SPDX-License-Identifier: BSD-3-Clause
// Browsers start no Worker for a page that comes from a file. Here a hidden frame stands in for the worker in which the
// theme searches, so that search works without a web server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = url;
      this.loaded = new Promise((done) => script.addEventListener("load", done));
      inside.document.body.append(script);
    }
    deliver(data) {
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
    postMessage(data) {
      this.loaded.then(() => this.deliver(data));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
