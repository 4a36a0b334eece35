//! rank: skeleton.
