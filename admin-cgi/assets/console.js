// Small helps; every page works without them.
(function () {
  "use strict";

  // <button data-copy="#id">: copies the text of that element.
  document.querySelectorAll("[data-copy]").forEach(function (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      var source = document.querySelector(button.getAttribute("data-copy"));
      if (source && navigator.clipboard) {
        navigator.clipboard.writeText(source.textContent.trim()).then(function () {
          button.textContent = "Copied";
        });
      }
    });
  });

  // <form data-ask="Really?">: asks before it is sent.
  document.querySelectorAll("form[data-ask]").forEach(function (form) {
    form.addEventListener("submit", function (event) {
      if (!window.confirm(form.getAttribute("data-ask"))) {
        event.preventDefault();
      }
    });
  });

  // The first wrong field gets the cursor.
  var wrong = document.querySelector(".is-invalid");
  if (wrong) {
    wrong.focus();
  }
})();
