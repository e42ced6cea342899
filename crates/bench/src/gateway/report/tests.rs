use super::{Block, GatewayReport};
use crate::{
    StoreKind,
    gateway::{
        figures::{Figures, Spread},
        start::{FASTIFY_JOSE, LAYER, NGINX, OIDC_PROVIDER, PROXY},
    },
};
use serde_json::Value;

/// All contenders in order: calls a second, CPU in V, p99.
pub(crate) fn report() -> GatewayReport {
    let contenders = vec![
        figures(NGINX, 20_000.0, 0.5, 4.0),
        figures(PROXY, 8_000.0, 2.0, 10.0),
        figures(LAYER, 12_000.0, 1.5, 6.0),
        figures(OIDC_PROVIDER, 1_000.0, 15.0, 80.0),
        figures(FASTIFY_JOSE, 2_000.0, 9.0, 40.0),
    ];
    GatewayReport { rounds: 3, in_flight: 64, blocks: vec![Block { store: StoreKind::Sqlite, nodes: 1, contenders }] }
}

fn figures(name: &'static str, rate: f64, cpu: f64, p99_ms: f64) -> Figures {
    let spread = |median| Spread { median, least: median, most: median };
    let mut figures = Figures::of(name, &[]);
    (figures.per_second, figures.cpu_in_v, figures.p99_ms, figures.memory_mib) =
        (spread(rate), spread(cpu), p99_ms, 40.0);
    figures
}

#[test]
fn a_ratio_to_an_omitted_competitor_is_null() {
    let mut report = report();
    report.blocks[0].contenders.retain(|figures| figures.name == LAYER);
    let json = report.json();
    assert_eq!(json["ratios"]["over_oidc_provider"], Value::Null);
    assert_eq!(json["ratios"]["over_fastify_jose"], Value::Null);
    assert_eq!(json["ratios"]["p99_over_nginx"], Value::Null);
    assert_eq!(json["ratios"]["cpu_in_v"], Value::Null);
    assert_eq!(json["ratios"]["cpu_in_v_layer"], 1.5);
    assert!(report.to_string().contains("over_oidc_provider   not measured"));
}

#[test]
fn the_ratios_compare_the_layer_with_the_peers_and_the_proxy_with_nginx() {
    let json = report().json();
    let ratios = &json["ratios"];
    assert_eq!((&ratios["cpu_in_v"], &ratios["cpu_in_v_layer"]), (&Value::from(2.0), &Value::from(1.5)));
    assert_eq!((&ratios["over_oidc_provider"], &ratios["over_fastify_jose"]), (&Value::from(12.0), &Value::from(6.0)));
    assert_eq!((&ratios["p99_over_nginx"], &json["memory_mib"]), (&Value::from(2.5), &Value::from(40.0)));
    assert_eq!(json["blocks"][0]["contenders"][1]["name"], PROXY);
    assert_eq!(json["blocks"][0]["store"], "sqlite");
}
