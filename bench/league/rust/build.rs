//! Links the work that `run` built for this side.
fn main() {
    println!("cargo:rerun-if-env-changed=LEAGUE_WORK");
    let folder = std::env::var("LEAGUE_WORK").expect("LEAGUE_WORK, the folder of libwork.a");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rerun-if-changed={folder}/libwork.a");
}
