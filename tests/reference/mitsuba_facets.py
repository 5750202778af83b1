"""A BSDF for Mitsuba 3 with the formulas of the `principled` material, written for its interface.

Mitsuba's own rough conductor and `principled` mask facets by the product of two directions' shares,
and lose the light of more than one bounce. This one has Smith's height-correlated masking, the lobe
of Kulla and Conty (2017) for further bounces, Schlick's Fresnel factor and a clear coat, so that
pictures can be compared at any roughness. Albedos come from `ggx_albedo.albedo` at 512 cosines and
at the roughness itself. Everything else, sampling included, is Mitsuba's.
"""

from __future__ import annotations

from typing import Any

import drjit as dr
import mitsuba as mi
import numpy as np

from reference.ggx_albedo import albedo

COSINES = 512
COAT_ALPHA = 0.0025
COAT_F0 = 0.04


def mean_of_bounces(fresnel: Any, average: float) -> Any:
    """Return the part of the light lost after one bounce that further bounces return."""
    return average * fresnel**2 / (1.0 - fresnel * (1.0 - average))


class Facets(mi.BSDF):  # type: ignore[misc]
    """Metal, or a dielectric over a diffuse base, below a coat.

    Properties: `color` (linear RGB), `roughness`, `metallic` (0 or 1), `ior`, `specular`, `coat`.
    """

    def __init__(self, props: Any) -> None:
        super().__init__(props)
        self.color = mi.Color3f(*props["color"])
        self.metallic = props["metallic"] > 0.5
        self.coat = props["coat"]
        self.alpha = max(props["roughness"] ** 2, 1e-3)
        self.base = mi.Color3f(0.0) if self.metallic else self.color
        root = (props["ior"] - 1.0) / (props["ior"] + 1.0)
        f0 = root**2 * props["specular"]
        self.f0 = self.color if self.metallic else mi.Color3f(f0)
        self.f90 = 1.0 if self.metallic else props["specular"]
        self._tabulate()
        mean = (self.f90 - self.f0) / 21.0 + self.f0
        self.many = mean_of_bounces(mean, self.average_once)
        self.m_components = [mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide]
        self.m_flags = self.m_components[0]

    def _tabulate(self) -> None:
        """Albedos of one bounce with a Fresnel factor of 1, and with one of (1 - cosine)^5."""
        roots = (np.arange(COSINES) + 0.5) / COSINES
        rows = np.array([albedo(x * x, self.alpha) for x in roots])
        self.table = [mi.Float(rows[:, k].astype(np.float32)) for k in (0, 1)]
        weights = 4.0 * roots**3 / COSINES  # of 2 mu dmu, with mu = x^2
        self.average_once, self.average_grazing = (float(weights @ rows[:, k]) for k in (0, 1))

    def _looked_up(self, cosine: Any, k: int) -> Any:
        x = dr.sqrt(dr.clip(cosine, 0.0, 1.0)) * COSINES - 0.5
        low = dr.clip(mi.UInt32(dr.maximum(x, 0.0)), 0, COSINES - 2)
        part = dr.clip(x - mi.Float(low), 0.0, 1.0)
        a, b = (dr.gather(mi.Float, self.table[k], low + step) for step in (0, 1))
        return a + part * (b - a)

    def _reflected(self, once: Any, grazing: Any) -> Any:
        """Share that the dielectric reflects after any number of bounces."""
        many = self.many.x
        return self.f0.x * (once - grazing) + self.f90 * grazing + (1.0 - once) * many

    def _lobe(self, alpha: float, f0: Any, f90: float, wi: Any, wo: Any) -> Any:
        """D F G / (4 cos) of a reflection; the cosine of wo is in it."""
        h = dr.normalize(wi + wo)
        a2 = alpha * alpha
        density = a2 / (dr.pi * dr.square((a2 - 1.0) * dr.square(h.z) + 1.0))
        if alpha < 0.01:  # without cancellation
            sine2 = dr.square(h.x) + dr.square(h.y)
            density = a2 / (dr.pi * dr.square(a2 * dr.square(h.z) + sine2))

        def masking(v: Any) -> Any:
            tangent2 = (1.0 - dr.square(v.z)) / dr.square(v.z)
            return 0.5 * (dr.sqrt(1.0 + a2 * tangent2) - 1.0)

        seen = 1.0 / (1.0 + masking(wi) + masking(wo))
        grazing = (1.0 - dr.clip(dr.dot(wi, h), 0.0, 1.0)) ** 5
        return (f0 + (f90 - f0) * grazing) * (density * seen / (4.0 * wi.z))

    def _value(self, wi: Any, wo: Any) -> Any:
        """BSDF times the cosine of wo."""
        once_i, once_o = self._looked_up(wi.z, 0), self._looked_up(wo.z, 0)
        value = self._lobe(self.alpha, self.f0, self.f90, wi, wo)
        lost = (1.0 - once_i) * (1.0 - once_o) / (dr.pi * (1.0 - self.average_once))
        value += self.many * (lost * wo.z)
        if not self.metallic:
            grazing_i, grazing_o = self._looked_up(wi.z, 1), self._looked_up(wo.z, 1)
            out, into = (
                1.0 - self._reflected(once_i, grazing_i),
                1.0 - self._reflected(once_o, grazing_o),
            )
            mean = 1.0 - self._reflected(self.average_once, self.average_grazing)
            value += self.base * (out * into * wo.z / (dr.pi * mean))
        if self.coat > 0.0:
            kept = [1.0 - self.coat * (COAT_F0 + (1.0 - COAT_F0) * (1.0 - c) ** 5)
                    for c in (dr.clip(wi.z, 0.0, 1.0), dr.clip(wo.z, 0.0, 1.0))]  # fmt: skip
            value = value * dr.minimum(*kept)
            value += self.coat * self._lobe(COAT_ALPHA, COAT_F0, 1.0, wi, wo)
        return value

    @property
    def _chances(self) -> tuple[float, float, float]:
        """How often facets, coat and a cosine distribution are sampled."""
        coat = 0.2 if self.coat > 0.0 else 0.0
        wide = 0.2 if self.metallic else 0.5
        return 1.0 - coat - wide, coat, wide

    def _density(self, wi: Any, wo: Any) -> Any:
        h = dr.normalize(wi + wo)
        facets, coat, wide = self._chances
        jacobian = 0.25 / dr.maximum(dr.dot(wo, h), 1e-7)
        pdf = wide * wo.z / dr.pi + facets * jacobian * self._normals(self.alpha).pdf(wi, h)
        if coat:
            pdf += coat * jacobian * self._normals(COAT_ALPHA).pdf(wi, h)
        return pdf

    @staticmethod
    def _normals(alpha: float) -> Any:
        return mi.MicrofacetDistribution(mi.MicrofacetType.GGX, alpha, True)

    def sample(self, _ctx: Any, si: Any, sample1: Any, sample2: Any, active: Any = True) -> Any:
        """Draw a direction; see `mi.BSDF.sample`."""
        facets, coat, _ = self._chances
        h = self._normals(self.alpha).sample(si.wi, sample2)[0]
        if coat:
            varnish = self._normals(COAT_ALPHA).sample(si.wi, sample2)[0]
            h = dr.select(sample1 < facets, h, varnish)
        wo = dr.select(
            sample1 < facets + coat,
            mi.reflect(si.wi, h),
            mi.warp.square_to_cosine_hemisphere(sample2),
        )
        good = active & (si.wi.z > 0.0) & (wo.z > 0.0)
        bs = mi.BSDFSample3f()
        bs.wo, bs.pdf, bs.eta = wo, dr.select(good, self._density(si.wi, wo), 0.0), 1.0
        bs.sampled_type, bs.sampled_component = +self.m_flags, 0
        good &= bs.pdf > 0.0
        return bs, dr.select(good, self._value(si.wi, wo) / bs.pdf, 0.0)

    def eval(self, _ctx: Any, si: Any, wo: Any, active: Any = True) -> Any:
        """Value times cosine; see `mi.BSDF.eval`."""
        good = active & (si.wi.z > 0.0) & (wo.z > 0.0)
        return dr.select(good, self._value(si.wi, wo), 0.0)

    def pdf(self, _ctx: Any, si: Any, wo: Any, active: Any = True) -> Any:
        """Density of `sample`; see `mi.BSDF.pdf`."""
        good = active & (si.wi.z > 0.0) & (wo.z > 0.0)
        return dr.select(good, self._density(si.wi, wo), 0.0)

    def eval_pdf(self, ctx: Any, si: Any, wo: Any, active: Any = True) -> Any:
        """Both; see `mi.BSDF.eval_pdf`."""
        return self.eval(ctx, si, wo, active), self.pdf(ctx, si, wo, active)

    def to_string(self) -> str:
        """Its name."""
        return f"Facets[alpha={self.alpha}]"
