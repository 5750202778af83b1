// title: antialiasing
// idea: several samples per pixel, distributed like the filter, added in registers
// product: render_list
// layout: list
// shows: samples
// source: Owen-scrambled Sobol points: Burley 2020; filter importance sampling: Ernst et al. 2006
