//! The tower side: a layer and the service it makes.

use std::mem;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use crate::engine::Engine;
use crate::error::{BoxError, Error};
use crate::future::CallFuture;
use crate::protocol::Protocol;

/// Puts calls under the policy of an [`Engine`].
#[derive(Clone, Debug)]
pub struct PolicyLayer<P> {
    engine: Engine,
    protocol: P,
}

impl<P> PolicyLayer<P> {
    /// All services this layer makes, and their clones, share `engine`.
    pub fn new(engine: Engine, protocol: P) -> Self {
        PolicyLayer { engine, protocol }
    }
}

impl<S, P: Clone> Layer<S> for PolicyLayer<P> {
    type Service = PolicyService<S, P>;

    fn layer(&self, inner: S) -> Self::Service {
        PolicyService::new(inner, self.engine.clone(), self.protocol.clone())
    }
}

/// Calls an inner service under the policy of an [`Engine`].
///
/// The inner service is cloned once per call, as a later attempt needs one of its own.
#[derive(Clone, Debug)]
pub struct PolicyService<S, P> {
    inner: S,
    engine: Engine,
    protocol: P,
}

impl<S, P> PolicyService<S, P> {
    /// `inner` under the policy of `engine`.
    pub fn new(inner: S, engine: Engine, protocol: P) -> Self {
        PolicyService {
            inner,
            engine,
            protocol,
        }
    }

    /// What all calls share.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl<S, P, Request> Service<Request> for PolicyService<S, P>
where
    S: Service<Request> + Clone,
    S::Error: Into<BoxError>,
    P: Protocol<Request, S::Response, S::Error> + Clone,
{
    type Response = S::Response;
    type Error = Error;
    type Future = CallFuture<S, P, Request>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(|error| Error::Attempt {
            error: error.into(),
            call: None,
        })
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The clone may not be ready; the one that was asked is, so that is the one to be called.
        let clone = self.inner.clone();
        let ready = mem::replace(&mut self.inner, clone);
        CallFuture::new(self.engine.clone(), self.protocol.clone(), ready, request)
    }
}
