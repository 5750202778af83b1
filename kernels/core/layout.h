// Sizes and offsets as this compiler sees them: for each struct of structs.h, in its order, the size
// and then the offset of every field. Python compares the table of a cubin with that of the extension.
#pragma once
#include "structs.h"

#define RT_OFFSET(S, name) (int)__builtin_offsetof(rt::S, name)
#define RT_OFFSET_Camera(type, name, count) RT_OFFSET(Camera, name),
#define RT_OFFSET_Light(type, name, count) RT_OFFSET(Light, name),
#define RT_OFFSET_PhongParameters(type, name, count) RT_OFFSET(PhongParameters, name),
#define RT_OFFSET_PrincipledParameters(type, name, count) RT_OFFSET(PrincipledParameters, name),
#define RT_OFFSET_Material(type, name, count) RT_OFFSET(Material, name),
#define RT_OFFSET_Film(type, name, count) RT_OFFSET(Film, name),
#define RT_OFFSET_Sampler(type, name, count) RT_OFFSET(Sampler, name),
#define RT_OFFSET_Integrator(type, name, count) RT_OFFSET(Integrator, name),
#define RT_OFFSET_Environment(type, name, count) RT_OFFSET(Environment, name),
#define RT_OFFSET_SceneInfo(type, name, count) RT_OFFSET(SceneInfo, name),
#define RT_OFFSET_Clip(type, name, count) RT_OFFSET(Clip, name),
#define RT_OFFSET_Frame(type, name, count) RT_OFFSET(Frame, name),
#define RT_OFFSET_RenderArgs(type, name, count) RT_OFFSET(RenderArgs, name),
#define RT_OFFSET_Node(type, name, count) RT_OFFSET(Node, name),
#define RT_OFFSET_LargeSphere(type, name, count) RT_OFFSET(LargeSphere, name),
#define RT_OFFSET_Emitter(type, name, count) RT_OFFSET(Emitter, name),
#define RT_OFFSET_FirstHit(type, name, count) RT_OFFSET(FirstHit, name),
#define RT_OFFSET_ToneArgs(type, name, count) RT_OFFSET(ToneArgs, name),
#define RT_OFFSET_FilmHistogram(type, name, count) RT_OFFSET(FilmHistogram, name),
#define RT_LAYOUT_ROW(S, LIST) (int)sizeof(rt::S), LIST(RT_OFFSET_##S)
#define RT_LAYOUT_TABLE {RT_STRUCTS(RT_LAYOUT_ROW)}
