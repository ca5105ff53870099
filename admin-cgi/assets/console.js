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

  // <div data-only-by="form" data-only="call:call tiers:tier">: fields that make sense only when
  // another one has one of these values are shown only then. What is wrong is always shown.
  document.querySelectorAll("[data-only]").forEach(function (part) {
    var chooser = part.querySelector("#f-" + part.getAttribute("data-only-by"));
    function show() {
      part.getAttribute("data-only").split(/\s+/).forEach(function (rule) {
        var words = rule.split(":");
        var field = part.querySelector("#f-" + words[0]);
        var box = field && field.closest(".mb-3");
        if (box) {
          box.hidden = words[1].split(",").indexOf(chooser.value) < 0 &&
            !box.classList.contains("tg-wrong");
        }
      });
    }
    if (chooser) {
      chooser.addEventListener("change", show);
      show();
    }
  });

  // The first wrong field gets the cursor.
  var wrong = document.querySelector(".is-invalid");
  if (wrong) {
    wrong.focus();
  }
})();
