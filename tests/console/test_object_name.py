"""An object, in whatever way a person names it."""

import pytest
import typer

from auditor.console.object_name import Named, like_it, readings

DEPLOYMENT, SHOP = ("deployment",), "shop-prod"


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("web", Named((), None, "web")),
        ("deployment/web", Named(DEPLOYMENT, None, "web")),
        ("deploy/web", Named(DEPLOYMENT, None, "web")),
        ("shop-prod/deploy/web", Named(DEPLOYMENT, SHOP, "web")),
        ("Deployment shop-prod/web", Named(DEPLOYMENT, SHOP, "web")),
        ("deployment web", Named(DEPLOYMENT, None, "web")),
        ("  deploy  web/ ", Named(DEPLOYMENT, None, "web")),
    ],
)
def test_the_likeliest_reading_comes_first(written: str, first: Named) -> None:
    assert readings(written)[0].namespace == first.namespace
    assert readings(written)[0].name == first.name
    assert set(first.kinds) <= set(readings(written)[0].kinds)


def test_what_stands_before_a_name_may_be_its_namespace() -> None:
    assert Named((), SHOP, "web") in readings("shop-prod/web")


@pytest.mark.parametrize(
    "written", ["Deployment/web/scale", "shop-prod/deployment/web/scale", "Deployment a/web/scale"]
)
def test_a_subresource_behind_the_name_is_of_the_object(written: str) -> None:
    assert any(one.name == "web" and "deployment" in one.kinds for one in readings(written))


def test_an_object_may_bear_the_name_of_a_subresource() -> None:
    assert readings("shop-prod/configmap/status")[0].name == "status"


@pytest.mark.parametrize("written", ["", " ", "/", "a//b", "a/b/c/d", "Deployment a/b/c"])
def test_what_names_no_object_is_a_usage_error(written: str) -> None:
    with pytest.raises(typer.BadParameter):
        readings(written)


def test_objects_of_a_like_name_are_offered() -> None:
    assert like_it("apii", ["web", "api"]) == "Objects called so or much like it: api."
    assert "auditor sources" in like_it("apii", [])
