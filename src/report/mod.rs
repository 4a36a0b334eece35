//! report: skeleton.
