// <div data-chart='[{"label":…,"requests":…,"quota":…}]' hidden>: bars of the requests, a line of
// the cost. The same numbers stand in a table beside it.
(function () {
  "use strict";

  var quotaPerUsd = 500000;

  function column(points, name, factor) {
    return points.map(function (point) {
      return point[name] / factor;
    });
  }

  document.querySelectorAll("[data-chart]").forEach(function (place) {
    var points = JSON.parse(place.getAttribute("data-chart"));
    var canvas = document.createElement("canvas");
    var colour = window.getComputedStyle(document.body).color;
    var grid = "rgba(128, 128, 128, .25)";

    if (!window.Chart || !points || points.length === 0) {
      return;
    }
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Requests and cost over time; the table has the numbers");
    place.appendChild(canvas);
    place.hidden = false;
    window.Chart.defaults.color = colour;
    new window.Chart(canvas, {
      data: {
        labels: points.map(function (point) {
          return point.label;
        }),
        datasets: [
          {
            type: "line",
            label: "Cost (USD)",
            data: column(points, "quota", quotaPerUsd),
            borderColor: "#d9730d",
            backgroundColor: "#d9730d",
            pointRadius: 2,
            yAxisID: "cost"
          },
          {
            type: "bar",
            label: "Requests",
            data: column(points, "requests", 1),
            backgroundColor: "rgba(66, 133, 244, .65)",
            yAxisID: "requests"
          }
        ]
      },
      options: {
        animation: false,
        maintainAspectRatio: false,
        scales: {
          x: { grid: { color: grid } },
          requests: { position: "left", beginAtZero: true, grid: { color: grid } },
          cost: { position: "right", beginAtZero: true, grid: { drawOnChartArea: false } }
        }
      }
    });
  });
})();
