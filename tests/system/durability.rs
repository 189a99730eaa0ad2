//! What is lost, and what is not, when Redis forgets.
