// SPDX-License-Identifier: Apache-2.0
#version 3.7;
global_settings { assumed_gamma 1.0 }
camera { location <0, 3, -8> look_at <0, 0.8, 0> }
light_source { <6, 9, -7> color rgb 1 area_light <2, 0, 0>, <0, 2, 0>, 3, 3 }
plane { y, 0 pigment { granite turbulence 0.8 color_map { [0 rgb 0.2] [1 rgb 0.9] } } normal { ripples 0.4 turbulence 0.5 } finish { reflection 0.2 phong 0.7 } }
#declare I = 0;
#while (I < 12)
  sphere { <3 * sin(I), 0.7 + 0.4 * cos(I), 3 * cos(I)>, 0.6 pigment { marble turbulence 1.2 color_map { [0 rgb <0.8, 0.3, 0.2>] [1 rgb <0.2, 0.3, 0.8>] } } finish { specular 0.6 reflection 0.1 } }
  #declare I = I + 1;
#end
torus { 1.4, 0.35 rotate 60*x translate 1.2*y pigment { wood turbulence 0.1 } finish { phong 0.9 } }
