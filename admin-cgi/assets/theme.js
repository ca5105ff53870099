// Before the first paint: Bootstrap's theme follows the system's.
(function () {
  "use strict";
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  function set() {
    document.documentElement.setAttribute("data-bs-theme", dark.matches ? "dark" : "light");
  }
  set();
  if (dark.addEventListener) {
    dark.addEventListener("change", set);
  }
})();
