//! compare: skeleton.
