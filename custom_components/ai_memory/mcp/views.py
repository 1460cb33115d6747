"""The views of this door, registered once: they answer for whichever entry is loaded."""

from homeassistant.core import HomeAssistant, callback

from .http import McpView, ResourceMetadataView
from .rest import HealthView, OpenApiView, ToolView


@callback
def async_register_views(hass: HomeAssistant) -> None:
    """Register every view."""
    for view in (McpView, ResourceMetadataView, ToolView, OpenApiView, HealthView):
        hass.http.register_view(view())
