# nix run 'git+REPOSITORY?dir=config/nix' -- crawl https://www.example.com/
{
  description = "Crawls a live website and writes its XML sitemaps";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = nixpkgs.lib.genAttrs systems;
    in {
      packages = each (system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "arpent";
            version = (builtins.fromTOML (builtins.readFile ../../Cargo.toml)).workspace.package.version;
            src = ../..;
            cargoLock.lockFile = ../../Cargo.lock;
            cargoBuildFlags = [ "--package" "arpent" "--features" "packages" ];
            # The tests start servers, which the sandbox of a build has none of.
            doCheck = false;
            meta.mainProgram = "arpent";
          };
        });
    };
}
