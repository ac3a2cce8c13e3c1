"""A quicker way from the kernel to the page, for the server that shows the course.

A moved slider is answered in four small messages. TCP keeps the second one back until the browser has acknowledged
the first, and a browser may put that off for 40 ms: as long as all the rest together. Asked for with
`--ServerApp.kernel_websocket_connection_class=notebooks.websocket.PromptConnection`.
"""

from __future__ import annotations

from asyncio import Future

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The usual connection to a kernel, on a socket that sends small messages at once (TCP_NODELAY)."""

    def connect(self) -> Future[None] | None:
        self.websocket_handler.set_nodelay(True)
        return super().connect()
